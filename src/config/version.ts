import { readFileSync } from 'node:fs'

/** The version of this package. The manifest is beside `src` and `dist` alike. */
export function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
