use std::fmt;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The certification authorities that a client trusts.
#[derive(Clone, Debug)]
pub struct Certificates(pub(crate) RootCertStore);

/// Why there are no certificates by which a server could be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCertificates(pub(crate) String);

impl Certificates {
    /// No authority, for a client that sends nothing encrypted.
    #[must_use]
    pub fn none() -> Self {
        Self(RootCertStore::empty())
    }

    /// The authorities of the platform. On Linux, the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` can name others.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificates`] if the platform has none.
    pub fn of_platform() -> Result<Self, InvalidCertificates> {
        with_platform(RootCertStore::empty())
    }

    /// The authorities of the platform, and the certificates of a text in PEM, for example of a private authority.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificates`] if the text has none, or one that is not valid.
    pub fn of_platform_and(pem: &[u8]) -> Result<Self, InvalidCertificates> {
        with_platform(roots_of(pem)?)
    }
}

fn with_platform(mut roots: RootCertStore) -> Result<Certificates, InvalidCertificates> {
    let platform = rustls_native_certs::load_native_certs();
    // A platform can have a certificate that this library does not read. The others are enough.
    roots.add_parsable_certificates(platform.certs);
    if roots.is_empty() {
        let why: String = platform.errors.iter().map(|error| format!("; {error}")).collect();
        return Err(InvalidCertificates(format!("the platform has no certification authorities{why}")));
    }
    Ok(Certificates(roots))
}

/// Returns the certificates of a text in PEM, at least one.
fn roots_of(pem: &[u8]) -> Result<RootCertStore, InvalidCertificates> {
    let invalid = |cause: &dyn fmt::Display| InvalidCertificates(format!("a certificate is not valid: {cause}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|cause| invalid(&cause))?;
        roots.add(certificate).map_err(|cause| invalid(&cause))?;
    }
    if roots.is_empty() { Err(InvalidCertificates("there is no certificate".to_owned())) } else { Ok(roots) }
}
