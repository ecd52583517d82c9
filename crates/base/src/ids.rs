//! Small integer ids for tables, fields, enumerations, facts, sets and rows. A name is resolved once, when a document is
//! loaded; after that code carries an index into the list that declares it, and a type per kind of list, so that a field
//! cannot be passed where a table is wanted.

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
    /// Something that holds rows: a table of a domain, or a view, which is what rules about decisions read instead of tables.
    RelationId
);
id!(
    /// A field of a relation, counted within that relation. Field 0 is always the row's own `id`.
    FieldId
);
id!(
    /// An enumeration of a domain: a named list of words, such as the states of an order.
    EnumId
);
id!(
    /// A fact: a total function of bound values, such as `moq(vendor, product)`.
    FactId
);
id!(
    /// A finite set that a variable of an expression can range over, such as the vendors of a task.
    SetId
);

/// A relation of a domain. The same type as [`RelationId`], used where a view cannot occur.
pub type TableId = RelationId;

/// The number of a row within its table, given out in order from 1 and never given twice.
pub type RowId = u32;

impl FieldId {
    /// The row's own id, which every relation has without declaring it.
    pub const ID: FieldId = FieldId(0);
}
