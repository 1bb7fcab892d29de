//! Events about components. What is added has an id of its own; a removal names a recent one, or none at all.

use palyra_types::ComponentId;
use palyra_types::component::{AddedComponent, ComponentCapability, ComponentEvent};
use palyra_types::tool::EffectContract;

use super::RandomAppends;

impl RandomAppends {
    pub(super) fn component_event(&mut self) -> ComponentEvent {
        if self.below(3) == 0 {
            let recent = self.made.saturating_sub(self.below(40));
            return ComponentEvent::Removed { component: ComponentId::from_parts(11, recent.into()) };
        }
        ComponentEvent::Added(AddedComponent {
            component: ComponentId::from_parts(11, self.made.into()),
            sha256: self.digest(),
            bytes: self.below(9),
            tool_version: self.number(),
            contract: self.one_of(&[EffectContract::Pure, EffectContract::Keyed, EffectContract::Opaque]),
            name: self.text(),
            text: self.text(),
            schema: self.text(),
            capabilities: (0..self.below(3)).map(|_| self.capability()).collect(),
            source: self.text(),
        })
    }

    fn capability(&mut self) -> ComponentCapability {
        match self.below(5) {
            0 => ComponentCapability::ReadFiles,
            1 => ComponentCapability::WriteFiles,
            2 => ComponentCapability::Http(self.text().into_exposed()),
            3 => ComponentCapability::Secret(self.text().into_exposed()),
            _ => ComponentCapability::KeyValue,
        }
    }
}
