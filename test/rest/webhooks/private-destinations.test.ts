import { expect, it } from 'vitest'
import { startTestServer } from '../../support/servers/server.ts'

const urls = [
  'http://localhost:9000/hook',
  'http://127.0.0.1/hook',
  'http://10.0.0.5/hook',
  'http://[::1]/hook',
  'http://backend/hook',
]

it('[HOOK-260] warns about the URL of a webhook or callback to which nothing is sent, with the option that allows it', async () => {
  const server = await startTestServer({ webhookAllowlist: ['10.1.2.3'] })
  const warningsOf = async (path: string, data: object): Promise<readonly string[]> => {
    const { status, body } = await server.post(path, data)
    expect([path, status]).toEqual([path, 200])
    return (body.result as { readonly warnings?: readonly string[] }).warnings ?? []
  }
  const on = { useWebhookService: true }
  await server.post('/v2/workspace/advancedwebhookconfig/update', { enabled: true, ...on })
  const calls = (url: string): readonly (readonly [string, object])[] => [
    ['/v2/workspace/callbacks/update', { load: { url } }],
    ['/v2/workspace/webhookconfig/update', { ...on, webhookServiceConfig: { rawNotificationUrl: url } }],
  ]
  for (const url of urls)
    for (const [path, data] of calls(url))
      expect([url, await warningsOf(path, data)]).toEqual([
        url,
        [expect.stringMatching(/not a public internet address.*WEFT_WEBHOOK_ALLOWLIST/)],
      ])
  for (const url of ['https://hooks.example.com/hook', 'http://10.1.2.3/hook'])
    for (const [path, data] of calls(url)) expect([url, await warningsOf(path, data)]).toEqual([url, []])
  await server.stop()
})
