import { notes } from "../tools/create_note.js";

const says = (content: object) => ({ role: "user", content });

export const listPromptsHandler = async () => ({
  prompts: [{ name: "summarize_notes", description: "Ask for a summary of all notes." }],
});

export const getPromptHandler = async () => ({
  messages: [
    says({ type: "text", text: "These are the notes:" }),
    ...Object.entries(notes).map(([id, { content }]) =>
      says({ type: "resource", resource: { uri: `note:///${id}`, mimeType: "text/plain", text: content } }),
    ),
    says({ type: "text", text: "Say in a sentence what they are about." }),
  ],
});
