//! Each stable code has its gRPC code, and a status carries both without leaking.

use super::*;

/// One line per gRPC code: the numbers of all stable codes that map to it.
const TABLE: &[(Code, &[u16])] = &[
    (Code::Cancelled, &[4011]),
    (Code::Unknown, &[2005, 4007, 4008, 4501, 4704, 4802]),
    (
        Code::InvalidArgument,
        &[
            1001, 1002, 1004, 1005, 1112, 1122, 4002, 4010, 4012, 4013, 4015, 4016, 4105, 4201, 4301, 4603,
            4606, 4801,
        ],
    ),
    (Code::DeadlineExceeded, &[1006, 1009, 3011, 4006, 4019, 4703, 5003]),
    (
        Code::NotFound,
        &[
            1007, 1101, 1103, 1108, 1114, 1115, 1121, 1131, 3012, 4001, 4009, 4101, 4106, 4303, 4504, 4601,
            4805, 4901, 4902,
        ],
    ),
    (Code::AlreadyExists, &[1110]),
    (Code::PermissionDenied, &[1107, 1202, 1203, 1204, 1212, 4003, 4004, 4017, 4018, 4103, 4602, 4701]),
    (
        Code::ResourceExhausted,
        &[1003, 1010, 1106, 2002, 3003, 3004, 4304, 4607, 4803, 5001, 5002, 5005, 5007],
    ),
    (
        Code::FailedPrecondition,
        &[
            1102, 1104, 1105, 1111, 1113, 1116, 1117, 1123, 1124, 1132, 1211, 1301, 1302, 1402, 1403, 1404,
            1406, 1408, 1411, 1412, 2001, 2004, 2010, 2012, 2013, 3001, 3002, 3006, 3007, 3008, 4005, 4014,
            4102, 4104, 4107, 4108, 4109, 4110, 4111, 4112, 4202, 4302, 4502, 4604, 4705, 4804, 4913, 4921,
            5006, 5008,
        ],
    ),
    (Code::Aborted, &[2008, 2014, 5004]),
    (Code::OutOfRange, &[1109, 2009]),
    (Code::Unimplemented, &[1008]),
    (Code::Internal, &[4503, 9001]),
    (Code::Unavailable, &[1401, 1405, 1407, 1413, 2006, 2007, 3005, 3009, 3010, 4305, 4702, 4806, 4911]),
    (Code::DataLoss, &[2003, 2011, 2015, 4605, 4912]),
    (Code::Unauthenticated, &[1201]),
];

#[test]
fn every_stable_code_stands_in_the_table_once() {
    let mut listed: Vec<u16> = TABLE.iter().flat_map(|(_, numbers)| *numbers).copied().collect();
    listed.sort_unstable();
    let all: Vec<u16> = ErrorCode::ALL.iter().map(|code| code.number()).collect();
    assert_eq!(listed, all);
    for code in ErrorCode::ALL {
        let row = TABLE.iter().find(|(_, numbers)| numbers.contains(&code.number()));
        assert_eq!(row.map(|(grpc, _)| *grpc), Some(grpc_code(*code)), "{code}");
    }
}

#[test]
fn every_stable_code_travels_as_metadata_with_its_slug() {
    for code in ErrorCode::ALL {
        let status = of(&ApiError::new(*code, "something".to_owned()));
        let carried = status.metadata().get(ERROR_CODE_KEY).and_then(|value| value.to_str().ok());
        assert_eq!(carried, Some(code.to_string().as_str()));
        assert_eq!(status.message(), format!("{}: something", code.slug()));
    }
}

#[test]
fn a_message_that_did_not_arrive_whole_is_named_and_other_answers_stay() {
    let dressed = |status: Status| Status::from_header_map(dress(status.into_http()).headers()).unwrap();
    let large = dressed(Status::out_of_range("Error, decoded message length too large"));
    assert_eq!(large.code(), Code::ResourceExhausted);
    assert!(large.message().starts_with("message_too_large: "));
    let broken = dressed(Status::internal("failed to decode Protobuf message"));
    assert_eq!(broken.code(), Code::InvalidArgument);
    assert!(broken.message().starts_with("invalid_frame: "));
    let unknown = dressed(Status::unimplemented("no such method"));
    assert_eq!((unknown.code(), unknown.message()), (Code::Unimplemented, "no such method"));
    let ours = dressed(of(&ApiError::new(ErrorCode::Internal, "ours".to_owned())));
    assert_eq!((ours.code(), ours.message()), (Code::Internal, "internal: ours"));
}
