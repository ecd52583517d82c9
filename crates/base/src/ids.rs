//! Small integer ids. A name is resolved once, when a document is loaded; after that everything is an index.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u16);

        impl $name {
            /// The id as an index into the list it numbers.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// Something that holds rows: a table of a domain, or a view of a plan.
    RelationId
);
id!(
    /// A field of a relation. Field 0 is always the row's own `id`.
    FieldId
);
id!(
    /// An enumeration of a domain.
    EnumId
);
id!(
    /// A fact: a total function of bound values, such as `moq(vendor, product)`.
    FactId
);
id!(
    /// A finite set that a variable can range over.
    SetId
);

/// A table is a relation of a domain.
pub type TableId = RelationId;

/// The number of a row within its table, given out in order from 1.
pub type RowId = u32;

impl FieldId {
    /// The row's own id.
    pub const ID: FieldId = FieldId(0);
}
