//! Deliberate mistakes, to prove that the simulator sees mistakes.
//!
//! Owns their names and what each must be told apart by; the doubles make them. None of them is ever on in a
//! story that is told to find real ones.

/// A mistake of one of the doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mutation {
    /// The journal says that it has committed before it has.
    AcknowledgesEarly,
    /// The journal says that it has committed, and now and then has not.
    LosesCommits,
    /// The journal writes no idempotency keys, and so finds none.
    ForgetsKeys,
    /// The journal writes one more entry after a run's last one.
    WritesAfterTheEnd,
    /// The journal leaves out a run when it is asked which are open.
    ForgetsAnOpenRun,
    /// The tape that a page shows has an entry with other words than the journal.
    TwistsPages,
    /// An opaque tool acts twice.
    ActsTwice,
    /// Following leaves out an entry.
    DropsLiveEntry,
    /// Following shows an entry twice.
    RepeatsLiveEntry,
    /// A timer never rings.
    LosesTimers,
    /// The journal lets two runs of a session be at work at once, by telling the second that the first is over.
    ForgetsWhoIsActive,
    /// The journal has no accounts of budgets when it is asked for one, and no reservations at a start.
    ForgetsAccounts,
    /// The journal loses the end of a reservation.
    LosesCharges,
    /// The journal writes a charge of a budget twice.
    ChargesTwice,
    /// A timer of the length of a window never rings.
    LosesLongTimers,
    /// An erasure leaves out items of memory.
    SparesItems,
    /// An erasure leaves out summaries.
    SparesSummaries,
    /// The journal gives one principal the items of all.
    MixesPrincipals,
    /// The journal says that it has recorded a lease of a task, and has not, so the worker begins without one.
    LosesLeases,
    /// An end that a worker of an earlier lease reports counts for the present one.
    IgnoresFences,
    /// The journal has no leased tasks when it is asked at a start.
    ForgetsLeases,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::AcknowledgesEarly,
        Self::LosesCommits,
        Self::ForgetsKeys,
        Self::WritesAfterTheEnd,
        Self::ForgetsAnOpenRun,
        Self::TwistsPages,
        Self::ActsTwice,
        Self::DropsLiveEntry,
        Self::RepeatsLiveEntry,
        Self::LosesTimers,
        Self::ForgetsWhoIsActive,
        Self::ForgetsAccounts,
        Self::LosesCharges,
        Self::ChargesTwice,
        Self::LosesLongTimers,
        Self::SparesItems,
        Self::SparesSummaries,
        Self::MixesPrincipals,
        Self::LosesLeases,
        Self::IgnoresFences,
        Self::ForgetsLeases,
    ];

    /// Returns words of the finding by which it must be recognised.
    #[must_use]
    pub fn found_as(self) -> &'static [&'static str] {
        match self {
            Self::AcknowledgesEarly => &["before it is committed", "is not in the journal"],
            Self::LosesCommits => &["is not in the journal", "before it is committed"],
            Self::ForgetsKeys => &["was taken"],
            Self::WritesAfterTheEnd => &["after its end"],
            Self::ForgetsAnOpenRun => &["is never over"],
            Self::TwistsPages => &["is not what the journal has", "is not what its tape says"],
            Self::ActsTwice => &["acted twice"],
            Self::DropsLiveEntry => &["a gap"],
            Self::RepeatsLiveEntry => &["a second time"],
            Self::LosesTimers => &["is never over"],
            Self::ForgetsWhoIsActive => &["two runs of a session", "out of order"],
            Self::ForgetsAccounts => &["goes above its limit"],
            Self::LosesCharges => &["is never settled"],
            Self::ChargesTwice => &["which is not open"],
            Self::LosesLongTimers => &["nothing wakes it"],
            Self::SparesItems => &["an item of an erased run"],
            Self::SparesSummaries => &["a summary has", "a summary or an item with"],
            Self::MixesPrincipals => &["of another principal", "who is another principal"],
            Self::LosesLeases => &["without a lease", "under a lease that is over"],
            Self::IgnoresFences => &["under a lease that is over"],
            Self::ForgetsLeases => &["of the queue is never over"],
        }
    }
}
