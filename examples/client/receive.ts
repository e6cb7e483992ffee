import { verifyWebhook, WebhookRejectedError } from 'weft-server/client'

/**
 * Answers a webhook of Weft: a route of Next.js, Hono, Deno or Bun.
 * @param secret the secret of the endpoint, `whsec_…`
 * @returns 401 if the signature is not valid, or if the request is too old
 */
export async function receive(request: Request, secret: string): Promise<Response> {
  try {
    const { event, data } = await verifyWebhook(await request.text(), request.headers, secret)
    console.log(`  ${event}: ${JSON.stringify(data)}`)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (!(error instanceof WebhookRejectedError)) throw error
    return new Response(error.message, { status: 401 })
  }
}
