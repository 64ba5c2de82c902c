export const schema = {description: "Do it.", type: "object", properties: {}};
import * as config from '../config.js';
import { LogService } from '../logService.js';
export default async () => {
  await LogService.logAsync({own: 1});
  return {content: [{type: 'text', text: JSON.stringify(config)}]};
};
