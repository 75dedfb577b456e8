/// The parties of a token.
#[derive(Clone, Copy, Debug)]
pub struct Expectations<'a> {
    /// The issuer of the provider, to the letter.
    pub issuer: &'a str,
    /// The identifier that the provider has given to this client.
    pub client_id: &'a str,
}
