import type { ServerSpec } from './contender.ts'

/** Credentials of each Weft that is started for a measurement. */
export const benchCredentials = {
  WEFT_WORKSPACE_ID: 'bench',
  WEFT_WORKSPACE_AUTH_TOKEN: 'bench-workspace-token',
  WEFT_API_KEY: 'bench-key',
  WEFT_AUTH_TOKEN: 'bench-auth-token-1234',
} as const

/**
 * Environment variables that switch off limits. All clients of a measurement have the same address, API key
 * and workspace, so the default limits would apply to all of them together.
 */
const unlimited = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_CONNECTS_PER_ADDRESS: '0',
  WEFT_MAX_CONNECTIONS_PER_ADDRESS: '20000',
  WEFT_RECEIVE_BYTES_PER_WORKSPACE: '0',
  WEFT_LOG_LEVEL: 'error',
} as const

/**
 * Describes a Weft that the load generator starts, in the same way as `weft serve`.
 * @param command program and its arguments before `serve`
 */
export const weftSpec = (command: readonly string[], version: string): ServerSpec => ({
  name: 'weft',
  version,
  protocol: 'y-websocket',
  url: 'ws://127.0.0.1:{port}/sync',
  document: 'bench/{name}/main',
  start: [...command, 'serve', '--host', '127.0.0.1', '--port', '{port}', '--data-dir', '{data}'],
  environment: { ...benchCredentials, ...unlimited },
  login: {
    path: '/v2/auth/generate_token',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': benchCredentials.WEFT_API_KEY,
      'x-service-auth-token': benchCredentials.WEFT_AUTH_TOKEN,
    },
    body: JSON.stringify({
      data: { userId: 'bench', userProperties: { name: 'Bench', email: 'bench@example.com' } },
    }),
  },
  keeps: true,
})
