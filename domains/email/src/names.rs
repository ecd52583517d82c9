//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        attachment, blocked_sender, draft, draft_attachment, draft_recipient, filter, history_record, label, message,
        message_label, message_recipient, send_as, thread, user
    }
    columns {
        add_label of filter;
        address of blocked_sender, draft_recipient, message_recipient;
        body of draft, message;
        draft of draft_attachment, draft_recipient;
        email of user;
        file_name of attachment, draft_attachment;
        from_address of filter, message;
        has_attachment of filter;
        importance of draft, message;
        in_reply_to of message;
        is_default of send_as;
        kind of draft_recipient, history_record, message_recipient;
        label of history_record, message_label;
        larger_than of filter;
        last_message_on of thread;
        message of attachment, history_record, message_label, message_recipient;
        message_count of thread;
        mime_type of attachment, draft_attachment;
        name of label;
        negated_query of filter;
        number of history_record;
        query of filter;
        remove_label of filter;
        send_as of draft;
        send_as_email of send_as;
        sent_on of message;
        size_bytes of attachment, draft_attachment, message;
        subject of draft, message, thread;
        subject_has of filter;
        thread of draft, message;
        to_address of filter;
        unread of message;
        user of blocked_sender, draft, filter, history_record, label, message, send_as, thread;
    }
    words {
        label_added of history_record.kind;
        label_removed of history_record.kind;
        message_added of history_record.kind;
        message_deleted of history_record.kind;
    }
    arguments {
        add_labels, all, attachments, bcc, body, cc, draft, filter, from, from_address, importance, labels, limit,
        message, messages, query, remove_labels, sent_on, subject, thread, to, user
    }
}
