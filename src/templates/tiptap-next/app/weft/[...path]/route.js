import { createEndpoint } from 'weft-server/client'
import { demoUser } from '../../../demo-sign-in'

/** Answers the requests of the page, such as those for tokens. The API key stays on the server. */
export function POST(request) {
  const endpoint = createEndpoint({
    api: globalThis.weft.api,
    authorize: demoUser,
    tokenSeconds: Number(process.env.TOKEN_SECONDS ?? 3600),
  })
  return endpoint(request)
}
