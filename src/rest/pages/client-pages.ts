import { existsSync } from 'node:fs'
import { builtFile } from '../../core/base/package-file.ts'
import type { PageRoute } from '../http/page-route.ts'
import { ownFilesPolicy } from './page-policy.ts'
import { StaticFile } from './static-file.ts'

const name = 'client/weft-socket.js'

/** Returns the script with the class of sockets, which applications import. Returns no page if it is not built. */
export function clientPages(): readonly PageRoute[] {
  const place = builtFile(name)
  if (!existsSync(place)) return []
  const file = new StaticFile(place, {
    type: 'text/javascript; charset=utf-8',
    contentSecurityPolicy: ownFilesPolicy,
    isImmutable: false,
    isPublic: true,
  })
  return [{ path: `/${name}`, calls: 1, content: (request) => file.content(request) }]
}
