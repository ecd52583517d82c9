//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        access_proposal, activity, approval, approval_reviewer, change_entry, comment, file, file_label,
        file_label_value, group_member, label, label_choice, label_field, operation, permission, reply, revision,
        shared_drive, storage_quota, user
    }
    columns {
        action of reply;
        actor of activity;
        answer of approval_reviewer;
        applied_by of file_label;
        approval of approval_reviewer;
        author of comment, reply, revision;
        choice of file_label_value;
        comment of reply;
        content of comment, file, reply, revision;
        copy_needs_writer of file;
        description of file;
        detail of activity;
        display_name of user;
        domain of permission;
        drive of file, permission;
        email of user;
        expires_on of permission;
        field of file_label_value, label_choice;
        file of access_proposal, activity, file_label, operation, permission, revision;
        file_label of file_label_value;
        group of group_member, permission;
        kind of activity, operation;
        label of file_label, label_field;
        limit_bytes of storage_quota;
        mime_type of file;
        name of file, label_choice, label_field;
        number of revision;
        owner of file;
        parent of file;
        requested_by of operation;
        requester of access_proposal;
        resolved of comment;
        reviewer of approval_reviewer;
        revision of operation;
        role of access_proposal, permission;
        shortcut_target of file;
        size_bytes of file, revision;
        state of operation;
        status of access_proposal, approval;
        target_type of operation;
        tenant of user;
        token of change_entry;
        trashed of file;
        r#type of label_field, permission;
        user of group_member, permission, storage_quota;
        value of file_label_value;
    }
    words {
        accepted of access_proposal.status;
        anyone of permission.r#type;
        approved of approval.status, approval_reviewer.answer;
        create of activity.kind;
        date of label_field.r#type;
        declined of approval.status, approval_reviewer.answer;
        document of file.mime_type, operation.target_type;
        domain of permission.r#type;
        download of operation.kind;
        edit of activity.kind;
        export of operation.kind;
        folder of file.mime_type, operation.target_type;
        in_progress of approval.status;
        integer of label_field.r#type;
        r#move of activity.kind;
        no_response of approval_reviewer.answer;
        pdf of file.mime_type, operation.target_type;
        pending of access_proposal.status;
        presentation of file.mime_type, operation.target_type;
        rejected of access_proposal.status;
        resolve of reply.action;
        selection of label_field.r#type;
        share of activity.kind;
        spreadsheet of file.mime_type, operation.target_type;
        text of file.mime_type, label_field.r#type, operation.target_type;
        user of label_field.r#type, permission.r#type;
    }
    arguments {
        accept, action, add, answer, approval, author, comment, content, count, domain, drive, expires_on, fields,
        file, folder, name, owner, parent, proposal, remove, reviewer, revision, role, to, user, values
    }
}
