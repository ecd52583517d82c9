//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        attendee, building, calendar, event, room, room_feature, user
    }
    columns {
        all_day of event;
        bookable of room;
        building of room;
        calendar of event, room;
        capacity of room;
        email of attendee, room, user;
        end of event;
        event of attendee;
        feature of room_feature;
        floor of room;
        is_primary of calendar;
        name of building, room;
        organizer of event;
        original_start of event;
        owner of calendar;
        recurrence of event;
        response of attendee;
        room of event, room_feature;
        series of event;
        start of event;
        status of event;
        summary of calendar, event;
        timezone of calendar, event, user;
        transparency of event;
    }
    words {
        cancelled of event.status;
        declined of attendee.response;
        transparent of event.transparency;
    }
    arguments {
        building, calendar, calendars, capacity, event, features, from, organizer, text, to
    }
}
