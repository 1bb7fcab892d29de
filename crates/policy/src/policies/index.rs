//! Which policies can matter to a question at all: those whose scope admits its action and its resource.
//!
//! Owns the grouping by resource and by group. Invariant: a policy that is left out cannot be satisfied and cannot
//! fail, because Cedar looks at the scope first and a scope never fails; so the slice decides as the whole set does.

use std::collections::BTreeMap;

use cedar_policy::{
    ActionConstraint, Authorizer, Entities, EntityTypeName, EntityUid, Policy, PolicySet, Request,
    ResourceConstraint, Response,
};

/// A set cannot be grouped: it links templates, or one id stands for two policies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policy `{policy}` is not one static policy of its own")]
pub struct NotStatic {
    /// The policy.
    pub policy: String,
}

/// Policies by what their scope admits. Knows nothing of Palyra: it serves any set of Cedar policies.
#[derive(Debug, Clone, Default)]
pub struct PolicyIndex {
    by_resource: BTreeMap<EntityUid, Vec<ScopedPolicy>>,
    by_group: BTreeMap<EntityUid, Vec<ScopedPolicy>>,
    anywhere: Vec<ScopedPolicy>,
    len: usize,
}

#[derive(Debug, Clone)]
struct ScopedPolicy {
    /// `None` for every action.
    actions: Option<Vec<EntityUid>>,
    /// `None` for every type of resource.
    kind: Option<EntityTypeName>,
    policy: Policy,
}

/// What is asked about, with everything above it.
#[derive(Debug, Clone, Copy)]
pub struct PolicyQuery<'a> {
    /// The action.
    pub action: &'a EntityUid,
    /// The groups that hold the action.
    pub action_groups: &'a [EntityUid],
    /// The resource.
    pub resource: &'a EntityUid,
    /// The groups that hold the resource.
    pub resource_groups: &'a [EntityUid],
}

impl PolicyIndex {
    /// Groups the policies of a set. Templates that are not linked decide nothing, in Cedar as here.
    ///
    /// # Errors
    /// [`NotStatic`] for a set with linked templates.
    pub fn new(policies: &PolicySet) -> Result<Self, NotStatic> {
        let mut index = Self::default();
        for policy in policies.policies() {
            if !policy.is_static() {
                return Err(NotStatic { policy: policy.id().to_string() });
            }
            index.add(policy);
        }
        Ok(index)
    }

    fn add(&mut self, policy: &Policy) {
        let actions = match policy.action_constraint() {
            ActionConstraint::Any => None,
            ActionConstraint::Eq(action) => Some(vec![action]),
            ActionConstraint::In(actions) => Some(actions),
        };
        let scoped = |kind| ScopedPolicy { actions, kind, policy: policy.clone() };
        self.len += 1;
        match policy.resource_constraint() {
            ResourceConstraint::Any => self.anywhere.push(scoped(None)),
            ResourceConstraint::Is(kind) => self.anywhere.push(scoped(Some(kind))),
            ResourceConstraint::Eq(resource) => {
                self.by_resource.entry(resource).or_default().push(scoped(None));
            }
            ResourceConstraint::In(group) => self.by_group.entry(group).or_default().push(scoped(None)),
            ResourceConstraint::IsIn(kind, group) => {
                self.by_group.entry(group).or_default().push(scoped(Some(kind)));
            }
        }
    }

    /// Returns how many policies it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the policies that can matter, as a set of their own.
    #[must_use]
    pub fn slice(&self, asked: PolicyQuery<'_>) -> PolicySet {
        let exact = self.by_resource.get(asked.resource).into_iter().flatten();
        // A resource is in itself.
        let mut groups: Vec<&EntityUid> = asked.resource_groups.iter().chain([asked.resource]).collect();
        groups.sort();
        groups.dedup();
        let grouped = groups.into_iter().filter_map(|group| self.by_group.get(group)).flatten();
        let admitted = exact.chain(grouped).chain(&self.anywhere).filter(|scoped| {
            let kind = scoped.kind.as_ref().is_none_or(|kind| kind == asked.resource.type_name());
            let action = scoped.actions.as_ref().is_none_or(|actions| {
                actions.iter().any(|action| action == asked.action || asked.action_groups.contains(action))
            });
            kind && action
        });
        PolicySet::from_policies(admitted.map(|scoped| scoped.policy.clone()))
            .expect("static policies of one set have different ids")
    }

    /// Returns the policies that can matter to a request, as a set of their own.
    #[must_use]
    pub fn slice_of(&self, request: &Request, entities: &Entities) -> PolicySet {
        let above = |uid: &EntityUid| -> Vec<EntityUid> {
            entities.ancestors(uid).into_iter().flatten().cloned().collect()
        };
        match (request.action(), request.resource()) {
            (Some(action), Some(resource)) => self.slice(PolicyQuery {
                action,
                action_groups: &above(action),
                resource,
                resource_groups: &above(resource),
            }),
            (None, _) | (_, None) => PolicySet::new(),
        }
    }

    /// Decides a request over its slice alone.
    #[must_use]
    pub fn is_authorized(&self, request: &Request, entities: &Entities) -> Response {
        Authorizer::new().is_authorized(request, &self.slice_of(request, entities), entities)
    }
}

#[cfg(test)]
mod tests;
