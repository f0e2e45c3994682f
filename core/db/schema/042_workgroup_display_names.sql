-- What people call a workgroup. Blank: its name.
ALTER TABLE workgroups ADD COLUMN display_name TEXT NOT NULL DEFAULT '';
