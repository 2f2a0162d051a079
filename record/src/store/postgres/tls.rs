//! TLS to the database: `sslmode` and `sslrootcert`, with the same meaning as in other clients of
//! PostgreSQL.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How the server's certificate is checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Trust {
    pub(super) mode: Mode,
    /// The file with the trusted authorities; without one, the public authorities.
    pub(super) authorities: Option<PathBuf>,
}

/// The values of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    Disable,
    #[default]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "disable" => Mode::Disable,
            "allow" | "prefer" => Mode::Prefer,
            "require" => Mode::Require,
            "verify-ca" => Mode::VerifyCa,
            "verify-full" => Mode::VerifyFull,
            _ => return None,
        })
    }
}

impl Trust {
    /// Whether TLS is allowed or required.
    pub(super) fn ssl_mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        // As in other clients, naming authorities makes `require` check them.
        let checked = match self.mode {
            Mode::Disable | Mode::Prefer => false,
            Mode::Require => self.authorities.is_some(),
            Mode::VerifyCa | Mode::VerifyFull => true,
        };
        let issued = if checked {
            let roots = Arc::new(self.roots()?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
            Some(verifier.build().map_err(|error| format!("sslrootcert: {error}"))?)
        } else {
            None
        };
        let check = CertificateCheck { issued, named: self.mode == Mode::VerifyFull, algorithms };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(check))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let Some(path) = &self.authorities else {
            return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
        };
        let failed = |why: String| format!("sslrootcert {}: {why}", path.display());
        let mut roots = RootCertStore::empty();
        for certificate in
            CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?
        {
            let certificate = certificate.map_err(|error| failed(error.to_string()))?;
            roots.add(certificate).map_err(|error| failed(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(failed("there is no certificate in it".to_owned()));
        }
        Ok(roots)
    }
}

/// Whether retrying cannot help: the server has no TLS, or its certificate is not trusted.
pub(super) fn is_refused(error: &tokio_postgres::Error) -> bool {
    let Some(source) = error.source() else { return false };
    match source.downcast_ref::<io::Error>() {
        Some(source) => {
            source.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some()
        }
        None => error.to_string().contains("TLS"),
    }
}

/// Checks the server's certificate.
#[derive(Debug)]
struct CertificateCheck {
    /// Checks the issuer; without it any certificate is accepted.
    issued: Option<Arc<WebPkiServerVerifier>>,
    /// Whether the certificate must be for the host name.
    named: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for CertificateCheck {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(issued) = &self.issued else { return Ok(ServerCertVerified::assertion()) };
        match issued.verify_server_cert(certificate, between, name, stapled, now) {
            // The verifier checks the name last, so everything else is valid.
            Err(rustls::Error::InvalidCertificate(
                NotValidForName | NotValidForNameContext { .. },
            )) if !self.named => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
