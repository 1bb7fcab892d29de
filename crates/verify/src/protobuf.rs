//! As much of protobuf's encoding as facts and attachments need.
//!
//! Owns splitting a message into its fields. Knows no message; does not recurse.

/// One field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub(crate) number: u64,
    pub(crate) value: FieldValue<'a>,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes; nothing here reads them.
    Fixed,
}

impl<'a> Field<'a> {
    /// Returns the bytes of the field where it is `number`.
    pub(crate) fn bytes(&self, number: u64) -> Option<&'a [u8]> {
        match self.value {
            FieldValue::Bytes(bytes) if self.number == number => Some(bytes),
            FieldValue::Bytes(_) | FieldValue::Number(_) | FieldValue::Fixed => None,
        }
    }

    /// Returns the number in the field where it is `number`.
    pub(crate) fn number(&self, number: u64) -> Option<u64> {
        match self.value {
            FieldValue::Number(value) if self.number == number => Some(value),
            FieldValue::Bytes(_) | FieldValue::Number(_) | FieldValue::Fixed => None,
        }
    }
}

/// The fields of a message in order; an item of `None` is the end of what can be read.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Option<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<Field<'a>> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => FieldValue::Number(self.varint()?),
            1 => self.take(8).map(|_| FieldValue::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                FieldValue::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| FieldValue::Fixed)?,
            _ => return None,
        };
        (tag >> 3 > 0).then_some(Field { number: tag >> 3, value })
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
}

/// Returns all fields, or `None` where the message cannot be read to its end.
pub(crate) fn fields(message: &[u8]) -> Option<Vec<Field<'_>>> {
    Fields(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_split_and_broken_messages_refused() {
        let read = fields(&[0x08, 0xAC, 0x02, 0x12, 0x02, 7, 8]).expect("well formed");
        assert_eq!(read[0].number(1), Some(300));
        assert_eq!(read[1].bytes(2), Some(&[7, 8][..]));
        assert_eq!(fields(&[0x12, 0x05, 1]), None);
        assert_eq!(fields(&[0x0B]), None);
        assert_eq!(fields(&[0x00, 0x01]), None);
        assert_eq!(fields(&[0x80; 12]), None);
    }
}
