//! Components, for callers: looking at a file, adding, removing.
//!
//! Owns who may decide, which names are free, and in which order a change reaches journal and tools. Nothing that runs on
//! behalf of a run has this handle. Invariants: what is added has the digest that a person was shown; changes come one by
//! one, and one that began is finished whoever still waits for it. Begin at [`ComponentsHandle::add`].

mod names;

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::TickFailure;
use palyra_journal_core::families::components;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::{AppendClass, AppendError, NewEntry};
use palyra_types::access::ActorIdentity;
use palyra_types::component::{
    AddedComponent, ComponentCapability, ComponentEvent, ComponentRecord, ExaminedComponent,
};
use palyra_types::event::JournalEvent;
use palyra_types::tool::{ToolName, ToolSpec};
use palyra_types::{ComponentId, Content, Redacted, Seq};
use tracing::Instrument;

use names::NameState;

use crate::caller::Caller;
use crate::erasure_subscriber::ErasureSubscriber;
use crate::error::AdminError;
use crate::identity::check_identity;
use crate::parts::AdminPorts;

pub use crate::component_error::{COMPONENTS_MAX, ComponentError};

/// Decides about components on behalf of the owner.
#[derive(Clone)]
pub struct ComponentsHandle {
    ports: Arc<AdminPorts>,
    /// Changes come one by one.
    changing: Arc<tokio::sync::Mutex<()>>,
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentExamination {
    /// What it is.
    pub examined: ExaminedComponent,
    /// The component of its name that is there.
    pub replaces: Option<ComponentRecord>,
}

/// What was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentAddition {
    /// The component.
    pub component: ComponentRecord,
    /// The one that it replaced.
    pub replaced: Option<ComponentId>,
}

impl ComponentsHandle {
    /// Makes a handle.
    #[must_use]
    pub fn new(ports: Arc<AdminPorts>) -> Self {
        Self { ports, changing: Arc::default() }
    }

    /// Lists the tools there are, each with the component that it is.
    ///
    /// # Errors
    /// [`ComponentError::NotAPerson`]; [`AdminError::Read`].
    pub async fn list(&self, caller: Caller) -> Result<Vec<(ToolSpec, Option<ComponentRecord>)>, AdminError> {
        caller.check_owner(ComponentError::NotAPerson)?;
        let added = there(&*self.ports.families).await?;
        let catalog = self.ports.tools.catalog();
        let with_component = |tool: &ToolSpec| {
            let of_name = |record: &&ComponentRecord| record.added.name.expose() == tool.name.as_str();
            (tool.clone(), added.iter().find(of_name).cloned())
        };
        Ok(catalog.iter().map(with_component).collect())
    }

    /// Reads a file, has it compiled and asked what it is; nothing is added by that.
    ///
    /// # Errors
    /// [`ComponentError`] says what is wrong with it.
    pub async fn examine(
        &self,
        caller: Caller,
        source: Content<PathBuf>,
    ) -> Result<ComponentExamination, AdminError> {
        caller.check_person(ComponentError::NotAPerson)?;
        let examined = self.look_at(source).await?;
        self.check_identities(caller, &examined)?;
        let records = there(&*self.ports.families).await?;
        let replaces = self.check_name(&examined.description.name, &records)?.cloned();
        Ok(ComponentExamination { examined, replaces })
    }

    /// Adds a component whose bytes have the digest that was shown; another one of its name is removed.
    ///
    /// # Errors
    /// [`ComponentError::Changed`] when they have not; whatever else [`ComponentError`] names; [`AdminError::Append`].
    pub async fn add(
        &self,
        caller: Caller,
        source: Content<PathBuf>,
        shown: [u8; 32],
    ) -> Result<ComponentAddition, AdminError> {
        caller.check_person(ComponentError::NotAPerson)?;
        // Nobody waits while it is compiled; below, it is ready.
        if self.look_at(source.clone()).await?.sha256 != shown {
            return Err(ComponentError::Changed.into());
        }
        self.to_its_end(move |this| async move { this.add_now(caller, source, shown).await }).await
    }

    async fn add_now(
        &self,
        caller: Caller,
        source: Content<PathBuf>,
        shown: [u8; 32],
    ) -> Result<ComponentAddition, AdminError> {
        let ports = &self.ports;
        let examined = self.look_at(source.clone()).await?;
        if examined.sha256 != shown {
            return Err(ComponentError::Changed.into());
        }
        let schema = self.check_identities(caller, &examined)?;
        let all = ports.families.query(components::records).await?;
        let mut records = there(&*ports.families).await?;
        let old = self.check_name(&examined.description.name, &records)?.cloned();
        if old.is_none() && records.len() >= COMPONENTS_MAX {
            return Err(ComponentError::TooMany.into());
        }
        let replaced = old.as_ref().map(|record| record.added.component);
        let added = self.added(examined, schema, &source, &all);
        let time = ports.clock.wall();
        let record = |seq| ComponentRecord {
            added: added.clone(),
            by: caller.actor.principal,
            created: time,
            removed: None,
            seq,
        };
        records.retain(|known| Some(known.added.component) != replaced);
        records.push(record(Seq(u64::MAX)));
        ports.components.check(&records).map_err(ComponentError::from)?;
        if replaced.is_none() {
            // What one of this name kept that is gone is not for this one.
            let tool = ToolName::new(added.name.expose());
            ports.components.forget_values(tool).await.map_err(ComponentError::from)?;
        }
        let removal = replaced.map(|component| ComponentEvent::Removed { component });
        let events: Vec<_> = removal.into_iter().chain([ComponentEvent::Added(added.clone())]).collect();
        let behind = events.len() as u64 - 1;
        let seq = Seq(append(ports, caller.actor, events).await?.0 + behind);
        ports.components.offer(there(&*ports.families).await?).await.map_err(ComponentError::from)?;
        Ok(ComponentAddition { component: record(seq), replaced })
    }

    /// Removes a component, with what it kept between its calls. Calls that run already go on.
    ///
    /// # Errors
    /// [`ComponentError::NotAPerson`], [`ComponentError::NotFound`]; [`ComponentError::Shelf`] when a policy in force
    /// names it; [`AdminError::Append`].
    pub async fn remove(&self, caller: Caller, name: &str) -> Result<ComponentRecord, AdminError> {
        caller.check_person(ComponentError::NotAPerson)?;
        let name = name.to_owned();
        self.to_its_end(move |this| async move { this.remove_now(caller, &name).await }).await
    }

    async fn remove_now(&self, caller: Caller, name: &str) -> Result<ComponentRecord, AdminError> {
        let ports = &self.ports;
        let mut records = there(&*ports.families).await?;
        let is_meant = |record: &ComponentRecord| {
            let added = &record.added;
            (!added.is_erased() && added.name.expose() == name) || added.component.to_string() == name
        };
        let place = records.iter().position(is_meant).ok_or(ComponentError::NotFound)?;
        let record = records.remove(place);
        ports.components.check(&records).map_err(ComponentError::from)?;
        let removed = ComponentEvent::Removed { component: record.added.component };
        append(ports, caller.actor, vec![removed]).await?;
        ports.components.offer(records).await.map_err(ComponentError::from)?;
        Ok(record)
    }

    /// Makes a change to its end, also when the caller goes: the call of a client that hangs up is dropped wherever it
    /// waits.
    async fn to_its_end<T: Send + 'static, F>(
        &self,
        change: impl FnOnce(Self) -> F + Send + 'static,
    ) -> Result<T, AdminError>
    where
        F: Future<Output = Result<T, AdminError>> + Send + 'static,
    {
        let changing = Arc::clone(&self.changing).lock_owned().await;
        let changed = change(self.clone());
        let working = async move {
            let _changing = changing;
            changed.await
        };
        let done = tokio::spawn(working.in_current_span()).await;
        done.unwrap_or_else(|_| Err(ComponentError::Interrupted.into()))
    }

    async fn look_at(&self, source: Content<PathBuf>) -> Result<ExaminedComponent, AdminError> {
        if !source.expose().is_absolute() {
            return Err(AdminError::InvalidArgument {
                what: "the file has to be named by an absolute path".to_owned(),
            });
        }
        Ok(self.ports.components.examine(source).await.map_err(ComponentError::from)?)
    }

    /// What a component is called and what it takes is compared as it is.
    fn check_identities(
        &self,
        caller: Caller,
        examined: &ExaminedComponent,
    ) -> Result<Redacted<String>, AdminError> {
        let check = |field, text| check_identity(&self.ports.recorder, caller.actor.principal, field, text);
        check("the name of the component", examined.description.name.as_str())?;
        let schema = check("the schema of the component", &examined.description.schema)?;
        examined.description.capabilities.iter().try_for_each(|capability| match capability {
            ComponentCapability::Http(host) => check("a host of the component", host).map(drop),
            ComponentCapability::Secret(name) => check("a secret's name in the component", name).map(drop),
            ComponentCapability::ReadFiles
            | ComponentCapability::WriteFiles
            | ComponentCapability::KeyValue => Ok(()),
        })?;
        Ok(schema)
    }

    /// Returns the component of this name, if there is one.
    fn check_name<'r>(
        &self,
        name: &ToolName,
        records: &'r [ComponentRecord],
    ) -> Result<Option<&'r ComponentRecord>, ComponentError> {
        let own = records.iter().find(|record| record.added.name.expose() == name.as_str());
        let catalog = self.ports.tools.catalog();
        let standing = if own.is_some() { NameState::Replaces } else { NameState::New };
        names::check(name, standing, catalog.iter().map(|tool| &tool.name))?;
        Ok(own)
    }

    fn added(
        &self,
        examined: ExaminedComponent,
        schema: Redacted<String>,
        source: &Content<PathBuf>,
        all: &[ComponentRecord],
    ) -> AddedComponent {
        let ports = &self.ports;
        let ExaminedComponent { sha256, bytes, description } = examined;
        let same_name = all.iter().filter(|record| {
            // One whose name was erased may have had this one.
            record.added.is_erased() || record.added.name.expose() == description.name.as_str()
        });
        let clean = |text: String| ports.redactor.redact(text.into()).text;
        AddedComponent {
            component: ports.entropy.new_id(ports.clock.wall()),
            sha256,
            bytes,
            tool_version: same_name.map(|record| record.added.tool_version).max().unwrap_or(0) + 1,
            contract: description.contract,
            name: (&description.name).into(),
            text: clean(description.text),
            schema,
            capabilities: description.capabilities,
            source: clean(source.expose().display().to_string()),
        }
    }

    /// Offers what the journal says, which is right whatever was offered before.
    ///
    /// # Errors
    /// [`TickFailure`] when components are not offered as the journal says.
    pub async fn offer_all(&self) -> Result<(), TickFailure> {
        let changing = Arc::clone(&self.changing).lock_owned().await;
        let ports = Arc::clone(&self.ports);
        let offering = async move {
            let _changing = changing;
            match there(&*ports.families).await {
                Ok(records) => ports.components.offer(records).await.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        };
        let offered = tokio::spawn(offering.in_current_span()).await;
        offered.unwrap_or_else(|lost| Err(lost.to_string())).map_err(|error| {
            TickFailure::new(format_args!("components are not offered as the journal says: {error}"))
        })
    }
}

impl ErasureSubscriber for ComponentsHandle {
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        async {
            if let Err(failure) = self.offer_all().await {
                tracing::warn!("after an erasure: {failure}");
            }
        }
        .boxed()
    }
}

/// Returns the components that were not removed.
async fn there(families: &dyn ReadFamilies) -> Result<Vec<ComponentRecord>, palyra_ports::ReadError> {
    let mut records = families.query(components::records).await?;
    records.retain(|record| record.removed.is_none());
    Ok(records)
}

/// Records what became of components, in one commit.
async fn append(
    ports: &AdminPorts,
    actor: ActorIdentity,
    events: Vec<ComponentEvent>,
) -> Result<Seq, AppendError> {
    let time = ports.clock.wall();
    let entry = |event| {
        let event = JournalEvent::Component(event);
        NewEntry { time, principal: actor.principal, session: None, run: None, event }
    };
    let entries = events.into_iter().map(entry).collect();
    Ok(ports.recorder.record_act(actor, entries, AppendClass::Normal, Vec::new()).await?.first_seq)
}
