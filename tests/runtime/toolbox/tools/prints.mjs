export const schema = {description: "Do it.", type: "object", properties: {}};
export default () => { console.log('{"jsonrpc": "2.0"}'); process.stdout.write('raw'); return {content: []}; };
