import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { packageFile } from '../config/package-file.ts'
import type { Page, PageContent } from './page.ts'

/** Everything comes from this server, and what is not in a file does not run. Its own websockets are part of `'self'`. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const folder = 'dist/console/'

/** The console and its playground, as the build has made them; none where nothing was built. */
export function consolePages(): readonly Page[] {
  const place = packageFile(folder)
  if (!existsSync(place)) return []
  const names = readdirSync(place).filter((name) => endingOf(name) in types)
  return names.map((name) => filePage(pathOf(name), name))
}

const endingOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/** `index.html` is `/console`, `playground.html` is `/console/playground`. */
const pathOf = (name: string): string =>
  name === 'index.html' ? '/console' : `/console/${name.replace(/\.html$/, '')}`

/** Read when it is asked for the first time, and kept. */
function filePage(path: string, name: string): Page {
  let read: Promise<Buffer> | null = null
  return {
    path,
    calls: 1,
    async content(): Promise<PageContent> {
      read ??= readFile(packageFile(folder + name))
      const type = types[endingOf(name)] as string
      return { kind: 'text', type, text: await read, contentSecurityPolicy }
    },
  }
}
