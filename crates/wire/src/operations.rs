//! The operations of `palyra.v1`: every method with what it declares about itself in the schemas.
//!
//! The table is written by the build script from the options of the methods, so a method cannot be missing here.

/// Who may call an operation, beside having its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationAudience {
    /// Everyone whose credential has the scope.
    Principals,
    /// The owner: over the Unix socket, or with a credential that has the scope and a fresh confirmation.
    Owner,
    /// The owner over the Unix socket only.
    OwnerSocket,
}

macro_rules! operation_scopes {
    ($($scope:ident = $name:literal,)*) => {
        /// What a credential has to be made for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum OperationScope {
            $(#[doc = concat!("`", $name, "`.")] $scope,)*
        }

        impl OperationScope {
            /// Every scope.
            pub const ALL: &[Self] = &[$(Self::$scope,)*];

            /// Returns its name, such as `runs.read`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$scope => $name,)* }
            }
        }
    };
}

operation_scopes! {
    Runs = "runs",
    RunsRead = "runs.read",
    Approve = "approve",
    Openai = "openai",
    Memory = "memory",
    Schedules = "schedules",
    Channel = "channel",
    Metrics = "metrics",
    Admin = "admin",
}

/// Whether an operation changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// It only reads; a client can repeat it.
    Read,
    /// It changes state.
    Change,
}

/// A method of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSpec {
    /// The path of a gRPC call, such as `/palyra.v1.GatewayService/GetRun`.
    pub path: &'static str,
    /// The full name of its service.
    pub service: &'static str,
    /// Its name, unique among all services.
    pub name: &'static str,
    /// The full name of its request.
    pub input: &'static str,
    /// The full name of its response.
    pub output: &'static str,
    /// Who may call it.
    pub audience: OperationAudience,
    /// What the caller's credential has to be made for.
    pub scope: OperationScope,
    /// Whether it changes anything.
    pub kind: OperationKind,
    /// One line for lists of operations.
    pub summary: &'static str,
    /// The HTTP method and path; empty where it has no HTTP form.
    pub http: &'static str,
    /// Whether the client sends more than one message.
    pub client_streams: bool,
    /// Whether the server sends more than one message.
    pub server_streams: bool,
}

impl OperationSpec {
    /// Returns the operation of a gRPC path.
    #[must_use]
    pub fn by_path(path: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.path == path)
    }

    /// Returns the operation of a name; case does not matter.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.name.eq_ignore_ascii_case(name))
    }
}

/// A request that has one response; it names its operation.
pub trait UnaryRequest: prost::Message {
    /// The path of its gRPC call.
    const PATH: &'static str;
    /// What it is answered with.
    type Response: prost::Message + Default;
}

include!(concat!(env!("OUT_DIR"), "/operations.rs"));

macro_rules! implement_requests {
    ($($path:literal $function:ident $request:ident $response:ident $kind:ident;)*) => {
        $(
            impl UnaryRequest for crate::v1::$request {
                const PATH: &'static str = $path;
                type Response = crate::v1::$response;
            }
        )*
    };
}

unary_operations!(implement_requests);
