//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        channel, channel_tab, directory_group, group_member, group_owner, installed_app, shared_channel_team,
        status_message, team, team_member, user
    }
    columns {
        account_enabled of user;
        app of channel_tab, installed_app;
        archived of channel, team;
        channel of channel_tab, shared_channel_team;
        classification of team;
        content_url of channel_tab;
        created_by of channel, team;
        description of channel, directory_group, team;
        display_name of channel, channel_tab, directory_group, team, user;
        email of channel;
        expires_on of status_message;
        group of group_member, group_owner, team;
        guests_allowed of team;
        is_primary of channel;
        kind of channel;
        mail_nickname of directory_group;
        members_can_create_channels of team;
        members_can_create_private of team;
        message of status_message;
        moderated of channel;
        rank of channel_tab;
        role of team_member;
        team of channel, installed_app, shared_channel_team, team_member;
        user of group_member, group_owner, installed_app, status_message, team_member;
        visibility of directory_group, team;
        website_url of channel_tab;
    }
    words {
        member of team_member.role;
        owner of team_member.role;
        private of channel.kind, directory_group.visibility, team.visibility;
        standard of channel.kind;
    }
    arguments {
        channel, description, display_name, expires_on, message, owner, parts, role, team, user, users, visibility
    }
}
