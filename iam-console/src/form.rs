use iam_core::user::NewUser;

/// The fields of a form that a browser has sent.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Parses the body of a request. `None` if it is not a form.
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        serde_urlencoded::from_bytes(body).ok().map(Self)
    }

    /// Returns a form with one field.
    pub(crate) fn with(name: &str, value: String) -> Self {
        Self(vec![(name.to_owned(), value)])
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| found == name)
    }

    /// Returns the value of a field. A field that is missing is empty.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    /// Returns all values of a field that a form can have several times.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a field, without spaces around it, if it is not empty.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        Some(self.get(name).trim().to_owned()).filter(|value| !value.is_empty())
    }

    pub(crate) fn remove(&mut self, names: &[&str]) {
        self.0.retain(|(name, _)| !names.contains(&name.as_str()));
    }

    /// Returns the fields as a browser would send them.
    pub(crate) fn encoded(&self) -> String {
        // Pairs of texts can always be written as a form.
        serde_urlencoded::to_string(&self.0).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_fields(self) -> Vec<(String, String)> {
        self.0
    }

    /// Reads the fields of a new user.
    pub(crate) fn new_user(&self) -> NewUser {
        NewUser {
            email: self.get("email").to_owned(),
            password: self.get("password").into(),
            first_name: self.get("firstName").to_owned(),
            last_name: self.get("lastName").to_owned(),
        }
    }
}
