import type { RoleName } from '../permissions/permission.ts'

/** A connection in the form of `/v2/connections/get`. */
export interface ListedConnection {
  readonly connectionId: string
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
  readonly userId: string
  readonly name: string
  readonly accessRole: RoleName
  readonly protocol: string
  readonly transport: 'websocket' | 'http'
  readonly clientAddress: string
  readonly connectedAt: number
  readonly node: string
}
