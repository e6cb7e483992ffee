import { dataOf } from 'weft-server/client'
import { demoUser } from '../../../demo-sign-in'

/** Returns a realtime token for one document. The API key stays on the server. */
export async function POST(request) {
  const user = demoUser(new URL(request.url).searchParams)
  if (user === null) return Response.json({ error: 'sign in first' }, { status: 401 })
  const { userId, name, email, role } = user
  const { organizationId, documentId } = await request.json()
  const resources = [{ type: 'document', id: documentId, organizationId, accessRole: role }]
  const result = await globalThis.weft.api.auth.generateToken({
    userId,
    userProperties: { name, email },
    permissions: { resources },
    expiresInSeconds: Number(process.env.TOKEN_SECONDS ?? 3600),
  })
  return Response.json(dataOf(result))
}
