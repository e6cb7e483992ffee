import { createServer } from 'weft-server'
import { demoUser } from './demo-sign-in.js'

/**
 * Opens Weft, which stores the documents in ./weft-data. `handle` answers the requests of the page: sync below
 * /collab, and tokens at /weft/token. It calls `next` for all other paths. The API key stays in this process.
 */
export async function openWeft() {
  const weft = await createServer({ dataDir: './weft-data', basePath: '/collab', logLevel: 'warn' })
  const handle = (request, response, next) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    if (pathname.startsWith('/collab/')) weft.handle(request, response)
    else if (pathname === '/weft/token') void sendToken(weft.api, searchParams, response)
    else next()
  }
  return { handle, handleUpgrade: weft.handleUpgrade, close: weft.close }
}

/** Sends a token that opens the document of the page, and no other one. */
async function sendToken(api, searchParams, response) {
  const user = demoUser(searchParams)
  if (user === null) return response.writeHead(401).end()
  const { userId, name, email, role } = user
  const id = searchParams.get('document') ?? 'welcome'
  const result = await api.auth.generateToken({
    userId,
    userProperties: { name, email },
    permissions: { resources: [{ type: 'document', organizationId: 'demo', id, accessRole: role }] },
    expiresInSeconds: Number(process.env.TOKEN_SECONDS ?? 3600),
  })
  response.writeHead(result.ok ? 200 : 503, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  })
  response.end(JSON.stringify(result.ok ? { token: result.data.token } : result.error))
}
