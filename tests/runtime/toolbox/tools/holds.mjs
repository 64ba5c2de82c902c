export const schema = {description: "Do it.", type: "object", properties: {}};
export default () => ({content: []});
export async function destroy() { console.log('holds lets go'); }
