import type { Config } from '../config.ts'
import { withoutTrailing } from '../text.ts'

/** Returns the URL at which clients reach the server. The URL has no trailing slash. */
export const publicUrlOf = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  withoutTrailing('/', publicUrl ?? `http://localhost:${port}`)
