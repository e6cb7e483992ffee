import { existsSync, readdirSync } from 'node:fs'
import { ApiError } from '../../core/base/errors.ts'
import { builtFile } from '../../core/base/package-file.ts'
import type { PageRoute } from '../http/page-route.ts'
import { StaticFile, servedType } from './static-file.ts'

const errorsFolder = 'docs/errors/'

/**
 * Returns the pages of the documentation, the console and the playground, and the script with the class of sockets,
 * which applications import. Returns no pages of a folder that is not built. Source maps are not served.
 */
export const staticPages = (): readonly PageRoute[] => [
  ...['docs/', 'console/', 'client/'].flatMap(filesIn).flatMap(pagesOf),
  errorPages(),
]

/** Returns the paths of the files in a folder of the build. */
function filesIn(folder: string): readonly string[] {
  const place = builtFile(folder)
  if (!existsSync(place)) return []
  return readdirSync(place, { recursive: true, encoding: 'utf8' }).map((name) => folder + name)
}

function pagesOf(name: string): readonly PageRoute[] {
  if (servedType(name) === undefined || name.startsWith(errorsFolder)) return []
  const file = new StaticFile(name)
  return pathsOf(name).map((path) => ({ path, calls: 1, content: (request) => file.content(request) }))
}

/** Returns the paths of a built file. A page of the console is also served with a slash at the end, because users type it. */
function pathsOf(name: string): readonly string[] {
  if (name === 'docs/reference/openapi.json') return ['/openapi.json']
  const path = `/${name.replace(/(\/(index|README))?\.html$/, '')}`
  return name.startsWith('console/') && name.endsWith('.html') ? [path, `${path}/`] : [path]
}

/** Returns the pages of the error codes. A client can ask for a code of another version, which has no page. */
function errorPages(): PageRoute {
  const files = new Map(filesIn(errorsFolder).map((name) => [name, new StaticFile(name)]))
  return {
    path: '/docs/errors/*code',
    route: '/docs/errors/*',
    calls: 1,
    content(request) {
      const [, code = ''] = /\/errors\/([^?]*)/.exec(request.url ?? '') ?? []
      const file = files.get(`${errorsFolder}${code}.html`)
      if (file !== undefined) return file.content(request)
      const problem = 'there is no error with this code; /docs/errors lists all codes'
      throw new ApiError('request/unknown-path', problem)
    },
  }
}
