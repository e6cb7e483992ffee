import { setTimeout as sleep } from 'node:timers/promises'
import { dataOf } from 'weft-server/client'

const uid = 'webhook-receiver-example'

/**
 * Returns a sentence for each existing setting of this API key that the example would break.
 * @param weft client of the REST API, as in the other functions
 */
export async function conflicts(weft, url, publicKey) {
  const { workspace } = weft
  const found = []
  const advanced = dataOf(await workspace.advancedwebhookconfig.get({}))
  if (advanced.publicKey !== '' && advanced.publicKey !== publicKey)
    found.push('Bodies are encrypted for another public key.')
  if (advanced.isEnabled) {
    const { endpoints: all } = dataOf(await workspace.advancedwebhook.endpoints.get({}))
    const others = all.filter((each) => each.uid !== uid && !each.disabled)
    if (others.length > 0 && advanced.publicKey !== publicKey)
      found.push(`${others.length} other endpoints would get encrypted bodies.`)
  }
  const basic = dataOf(await workspace.webhookconfig.get({}))
  const basicUrl = basic.webhookServiceConfig.rawNotificationUrl
  if (basic.useWebhookService && basicUrl !== `${url}/basic`)
    found.push(`The basic service sends to ${basicUrl}.`)
  return found
}

/**
 * Makes Weft send all events to `url`: encrypted at `/advanced`, encoded at `/basic`. Returns the signing
 * secret.
 */
export async function configure({ workspace }, url, { publicKey, token }) {
  dataOf(await workspace.advancedwebhookconfig.update({ isEnabled: true, encryptData: true, publicKey }))
  const { endpoints } = workspace.advancedwebhook
  const endpoint = { url: `${url}/advanced`, description: 'examples/webhook-receiver', disabled: false }
  const created = await endpoints.create({ ...endpoint, uid })
  if (!created.ok && created.error.status === 'ALREADY_EXISTS')
    dataOf(await endpoints.update({ endpointId: uid, ...endpoint }))
  else dataOf(created)
  const triggers = { crdt: true, 'document.create': true, 'document.delete': true }
  const basic = { authToken: token, rawNotificationUrl: `${url}/basic`, encodeData: true, encryptData: false }
  const webhookServiceConfig = { ...basic, triggers }
  dataOf(await workspace.webhookconfig.update({ useWebhookService: true, webhookServiceConfig }))
  return dataOf(await endpoints.secret.get({ endpointId: uid })).secret
}

/** Makes Weft send a test event. Returns null after a success, else the error of Weft. */
export async function tryOut({ workspace }) {
  const { messageId } = dataOf(await workspace.advancedwebhook.endpoints.test({ endpointId: uid }))
  for (let tries = 0; tries < 100; tries++) {
    const { deliveries } = dataOf(await workspace.advancedwebhook.deliveries.get({ endpointId: uid }))
    const sent = deliveries.find((each) => each.messageId === messageId)
    if (sent?.status === 'success') return null
    if (sent?.attempts.length > 0) return sent.attempts.at(-1).error
    await sleep(100)
  }
  return 'nothing was sent within 10 s'
}

/** Stops all webhooks to this receiver. */
export async function disable({ workspace }) {
  dataOf(await workspace.advancedwebhook.endpoints.update({ endpointId: uid, disabled: true }))
  dataOf(await workspace.webhookconfig.update({ useWebhookService: false }))
}
