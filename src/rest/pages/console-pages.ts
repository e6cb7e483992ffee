import { existsSync, readdirSync } from 'node:fs'
import { builtFile } from '../../core/base/package-file.ts'
import type { PageRoute } from '../http/page-route.ts'
import { ownFilesPolicy } from './page-policy.ts'
import { StaticFile } from './static-file.ts'

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const folder = 'console/'

/**
 * Returns the built pages of the console and the playground. Returns no pages if they are not built. Source
 * maps are not served.
 */
export function consolePages(): readonly PageRoute[] {
  const place = builtFile(folder)
  if (!existsSync(place)) return []
  return readdirSync(place).flatMap(filePages)
}

const endingOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/**
 * Returns the paths of a built file. `index.html` is `/console`, and `playground.html` is
 * `/console/playground`. Each page is also served with a slash at the end, because users type it.
 */
function pathsOf(name: string): readonly string[] {
  if (endingOf(name) !== 'html') return [`/console/${name}`]
  const path = name === 'index.html' ? '/console' : `/console/${name.replace(/\.html$/, '')}`
  return [path, `${path}/`]
}

/** Returns whether a file name contains a hash of its content, as the names of built parts do. */
const isHashed = (name: string): boolean => /-[A-Z0-9]{8}\.js$/.test(name)

function filePages(name: string): readonly PageRoute[] {
  const type = types[endingOf(name)]
  if (type === undefined) return []
  const file = new StaticFile(builtFile(folder + name), {
    type,
    contentSecurityPolicy: ownFilesPolicy,
    isImmutable: isHashed(name),
  })
  return pathsOf(name).map((path) => ({ path, calls: 1, content: (request) => file.content(request) }))
}
