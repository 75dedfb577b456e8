//! The fenced blocks of the documents.

use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A block, as it stands between its fences.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Where the block begins, so that a reader of a failure finds it.
    pub(super) place: String,
    pub(super) language: String,
    pub(super) text: String,
}

/// A document, with the blocks that no check has taken yet.
pub(super) struct Document {
    /// Its path in the repository.
    pub(super) path: String,
    blocks: Vec<Block>,
}

impl Document {
    /// Returns every document of the repository that has blocks.
    pub(super) fn all() -> Vec<Self> {
        let mut paths = Vec::new();
        find_documents(&repository(), &mut paths);
        paths.sort();
        let documents = paths.iter().map(|path| Self::read(path));
        documents.filter(|document| !document.blocks.is_empty()).collect()
    }

    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let path = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
        let mut blocks: Vec<Block> = Vec::new();
        let mut fence: Option<&str> = None;
        for (line, number) in text.lines().zip(1..) {
            match fence {
                Some(end) if line.trim() == end => fence = None,
                Some(_) => {
                    let block = blocks.last_mut().unwrap();
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                None if line.trim_start().starts_with("```") => {
                    let line = line.trim_start();
                    let (begin, language) = line.split_at(line.len() - line.trim_start_matches('`').len());
                    fence = Some(begin);
                    let (place, language) = (format!("{path}:{number}"), language.trim().to_owned());
                    blocks.push(Block { place, language, text: String::new() });
                }
                None => {}
            }
        }
        assert!(fence.is_none(), "{path} ends within a block");
        Self { path, blocks }
    }

    /// Takes the first block that begins with this text out of the document.
    pub(super) fn take(&mut self, beginning: &str) -> Block {
        let position = self.blocks.iter().position(|block| block.text.starts_with(beginning));
        let position = position.unwrap_or_else(|| panic!("no block of {} begins with {beginning:?}", self.path));
        self.blocks.remove(position)
    }

    /// Takes all remaining blocks in these languages out of the document, in their order.
    pub(super) fn take_all(&mut self, languages: &[&str]) -> Vec<Block> {
        self.blocks.extract_if(.., |block| languages.contains(&block.language.as_str())).collect()
    }

    /// Fails if a block remains: no check could find a mistake in it.
    pub(super) fn assert_nothing_is_left(&self) {
        let places: Vec<String> =
            self.blocks.iter().map(|block| format!("{} ({})", block.place, block.language)).collect();
        assert!(places.is_empty(), "say in documents/mod.rs how these are checked: {places:?}");
    }
}

fn find_documents(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if is_foreign(name) {
            continue;
        }
        if path.is_dir() {
            find_documents(&path, found);
        } else if name.ends_with(".md") && !path.is_symlink() {
            found.push(path);
        }
    }
}

/// Returns whether a name belongs to a file or directory that is not part of the repository, or has no documents.
pub(super) fn is_foreign(name: &str) -> bool {
    name.starts_with('.') || ["target", "node_modules"].contains(&name)
}
