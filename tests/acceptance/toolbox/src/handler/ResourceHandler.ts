import { notes } from "../tools/create_note.js";

export const listResourcesHandler = async () => ({
  resources: Object.entries(notes).map(([id, { title }]) => ({ uri: `note:///${id}`, name: title })),
});

export const readResourceHandler = async (request: any) => {
  const id = new URL(request.params.uri).pathname.slice(1);
  if (!notes[id]) throw new Error(`Note ${id} not found`);
  return { contents: [{ uri: request.params.uri, mimeType: "text/plain", text: notes[id].content }] };
};
