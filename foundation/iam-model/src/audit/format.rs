/// The form in which entries are written for other systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventFormat {
    /// As the API shows them, see [`ShownEntry`](crate::audit::ShownEntry).
    #[default]
    Native,
    /// As events of the Open Cybersecurity Schema Framework, see [`OcsfEvent`](crate::audit::OcsfEvent).
    Ocsf,
}

text_enum! { EventFormat { Native = "native", Ocsf = "ocsf" } }
