//! Generates the module `iam` from the OpenAPI document.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use openapi_to_rust::http_config::{AuthConfig, HttpClientConfig};
use openapi_to_rust::{CodeGenerator, GeneratorConfig, SchemaAnalyzer};

const DOCUMENT: &str = "../../docs/openapi.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let config = GeneratorConfig {
        spec_path: DOCUMENT.into(),
        output_dir: out.join("iam"),
        module_name: "iam".to_owned(),
        enable_sse_client: false,
        http_client_config: Some(HttpClientConfig {
            base_url: Some("http://localhost:8080/api/v1".to_owned()),
            timeout_seconds: Some(30),
            max_response_body_bytes: None,
            default_headers: [].into(),
        }),
        auth_config: Some(AuthConfig::Bearer { header_name: "Authorization".to_owned() }),
        tracing_enabled: false,
        ..GeneratorConfig::default()
    };
    let mut analysis = SchemaAnalyzer::new(serde_json::from_str(&fs::read_to_string(DOCUMENT)?)?)?.analyze()?;
    let generator = CodeGenerator::new(config);
    generator.write_files(&generator.generate_all(&mut analysis)?)?;

    // The generated file cannot be included itself, because it begins with inner attributes.
    let module =
        r#"#[allow(dead_code, reason = "the module has every operation, and this program uses four")] mod iam;"#;
    fs::write(out.join("module.rs"), module)?;
    Ok(())
}
