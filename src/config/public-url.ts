import type { Config } from '../config.ts'

/** How clients reach the server, without a slash at the end. */
export const publicUrlOf = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  (publicUrl ?? `http://localhost:${port}`).replace(/\/+$/, '')
