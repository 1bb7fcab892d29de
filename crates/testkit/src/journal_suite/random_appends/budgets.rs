//! Events about budgets, in all their forms; ids are few, so that budgets are replaced and requests end.

use palyra_journal_core::families::{budget_accounts, budgets};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::NewEntry;
use palyra_types::budget::{
    AccountEvent, AccountKey, AuxiliaryPurpose, AuxiliaryUse, BudgetEvent, BudgetScope, BudgetSet,
    CatalogueDigest, ChargeBasis, LimitAction, LimitMeasure, MoneyAmount, PriceQuote, PurseKey, PurseKind,
    RequestSize, ReservationId, ReservationRequest, SettledCharge, TaskClass, TokenPrices, TopUpReason,
    UsageAmount, UsageLimits, WindowKind, WindowSpan,
};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::{AgentId, Attempt, BudgetId, ChannelId, RunId, ScheduleId, SessionId, Timestamp};

use super::{RandomAppends, exposed};
use crate::family_oracle;

/// Budgets that random events name.
const BUDGETS: u64 = 3;

impl RandomAppends {
    /// Returns entries about budgets alone.
    pub fn budget_entries(&mut self, count: usize) -> Vec<NewEntry> {
        let entry = |me: &mut Self| NewEntry {
            time: me.time(),
            principal: me.principal(),
            session: None,
            run: None,
            event: me.budget_event().into(),
        };
        (0..count).map(|_| entry(self)).collect()
    }

    pub(super) fn budget_event(&mut self) -> BudgetEvent {
        let budget = BudgetId::from_parts(12, self.below(BUDGETS).into());
        match self.below(9) {
            8 => BudgetEvent::AuxiliaryUsed(AuxiliaryUse {
                purpose: self.one_of(&[
                    AuxiliaryPurpose::Summary,
                    AuxiliaryPurpose::Embeddings,
                    AuxiliaryPurpose::Reflection,
                ]),
                session: self.maybe(|me| SessionId::from_parts(2, me.below(2).into())),
                agent: self.maybe(|me| AgentId::from_parts(5, me.below(2).into())),
                usage: self.usage(),
                model: self.maybe(Self::model).into(),
            }),
            0 => BudgetEvent::Removed { budget },
            1 | 2 => BudgetEvent::Set(BudgetSet {
                budget,
                scope: self.scope(),
                window: self.window(),
                hard: self.limits(),
                soft: self.limits(),
                at_limit: self.one_of(&[LimitAction::Park, LimitAction::Ask, LimitAction::Refuse]),
                auxiliary_percent: self.number(),
                name: self.text(),
            }),
            _ => {
                let window = self.one_of(&[WindowKind::Day, WindowKind::Run]);
                let run = (window == WindowKind::Run).then(|| RunId::from_parts(3, self.below(2).into()));
                let purse = if self.below(4) == 0 { self.purse() } else { PurseKey::Total };
                BudgetEvent::Account {
                    account: AccountKey { budget, window, purse, run },
                    event: self.account_event(),
                }
            }
        }
    }

    /// Returns a note of a run about a budget.
    pub(super) fn budget_note(&mut self) -> TapeEvent {
        let explanation = self.text();
        if self.below(2) == 0 {
            return TapeEvent::Run(RunEvent::SoftLimitNoted { explanation });
        }
        TapeEvent::Run(RunEvent::BudgetReached { resumes: self.maybe(Self::time), explanation })
    }

    fn account_event(&mut self) -> AccountEvent {
        let id = ReservationId {
            run: RunId::from_parts(3, self.below(2).into()),
            class: self.one_of(&[TaskClass::Interactive, TaskClass::Background, TaskClass::Auxiliary]),
            // Few, so that a reservation and its end meet.
            attempt: Attempt(self.number() % 2),
        };
        match self.below(9) {
            0 => {
                let start = i64::try_from(self.below(4)).unwrap_or(0) * 100;
                let span = WindowSpan { start: Timestamp(start), end: Timestamp(start + 150) };
                AccountEvent::WindowOpened { span }
            }
            1 => AccountEvent::ToppedUp {
                amount: self.amount(),
                reason: self.one_of(&[TopUpReason::GoOnOnce, TopUpReason::Person]),
            },
            2 => AccountEvent::SoftLimitPassed { measure: self.one_of(&LimitMeasure::ALL) },
            3 => AccountEvent::Released { id },
            4 | 5 => AccountEvent::Settled {
                id,
                charge: SettledCharge {
                    charged: self.amount(),
                    above_reservation: self.amount(),
                    not_charged: self.amount(),
                    basis: self.one_of(&[
                        ChargeBasis::ReportedUsage,
                        ChargeBasis::Reservation,
                        ChargeBasis::LostRequest,
                        ChargeBasis::RefusedRequest,
                    ]),
                },
            },
            _ => AccountEvent::Reserved {
                request: ReservationRequest {
                    id,
                    size: RequestSize { input_tokens: self.below(500), output_tokens_max: self.below(90) },
                    price: self.maybe(|me| PriceQuote {
                        prices: TokenPrices::of_input_and_output(
                            MoneyAmount(me.below(7)),
                            MoneyAmount(me.below(9)),
                        ),
                        catalogue: CatalogueDigest(me.digest()),
                    }),
                },
            },
        }
    }

    fn scope(&mut self) -> BudgetScope {
        if self.below(2) == 0 {
            let kinds = PurseKind::ALL.map(|(kind, _)| kind);
            BudgetScope::Each(self.one_of(&kinds))
        } else {
            BudgetScope::One(self.purse())
        }
    }

    fn purse(&mut self) -> PurseKey {
        let number = self.below(2).into();
        self.one_of(&[
            PurseKey::Total,
            PurseKey::Principal(crate::journal_suite::samples::principal(0)),
            PurseKey::Agent(AgentId::from_parts(1, number)),
            PurseKey::Session(SessionId::from_parts(2, number)),
            PurseKey::Channel(ChannelId::from_parts(13, number)),
            PurseKey::Schedule(ScheduleId::from_parts(14, number)),
        ])
    }

    fn window(&mut self) -> WindowKind {
        let kinds = WindowKind::ALL.map(|(kind, _)| kind);
        self.one_of(&kinds)
    }

    fn limits(&mut self) -> UsageLimits {
        UsageLimits {
            tokens: self.maybe(|me| me.below(9)),
            money: self.maybe(|me| MoneyAmount(me.below(9))),
            requests: self.maybe(|me| me.below(9)),
        }
    }

    fn amount(&mut self) -> UsageAmount {
        UsageAmount { tokens: self.below(900), money: MoneyAmount(self.below(70)), requests: self.below(2) }
    }
}

/// Adds the budgets and their accounts.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    let found = journal.query(budgets::in_force).await.unwrap();
    // Texts of states that were written before there were budgets stay the same.
    if !found.is_empty() {
        all.push(exposed(&found, |one| one.set.name.expose().clone()));
    }
    let accounts = journal.query(|rows, _| budget_accounts::all(rows)).await.unwrap();
    all.extend(accounts.iter().map(family_oracle::budgets::shown));
}
