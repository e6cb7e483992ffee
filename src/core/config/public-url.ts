import { withoutTrailing } from '../base/text.ts'
import type { Config } from './config.ts'

/** Returns the URL at which clients reach the server. The URL has no trailing slash. */
export const publicUrlOf = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  withoutTrailing('/', publicUrl ?? `http://localhost:${port}`)
