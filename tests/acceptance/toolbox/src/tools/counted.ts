let calls = 0;

export const schema = { description: "Count the calls since it was loaded.", type: "object", properties: {} };

export default () => ({ content: [{ type: "text", text: `${++calls}` }] });

export async function destroy() {
  console.log(`counted is destroyed after ${calls}`);
}
