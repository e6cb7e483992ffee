import { basename } from 'node:path'

/** The program as its users call it: `npx weft-server` is the one command that npm runs without an installation. */
export const programName = basename(process.argv[1] ?? '').startsWith('weft-server')
  ? 'npx weft-server'
  : 'weft'
