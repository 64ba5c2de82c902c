export const schema = {description: "Do it.", type: "object", properties: {}};
import { callToolHandler } from '../handler/ToolHandler.js';
export default ({params}) => callToolHandler({params}, 'circle_1');
