import * as v from 'valibot'

const tenant = { workspaceId: v.string(), apiKey: v.string() }
const organization = { ...tenant, organizationId: v.string() }

/** Schemas of the address types of `address.ts`, for messages and stored jobs. */
export const addressSchemas = {
  tenant: v.looseObject(tenant),
  organization: v.looseObject(organization),
  scope: v.looseObject({ ...organization, documentId: v.string() }),
  document: v.looseObject({ ...organization, documentId: v.string(), editorId: v.string() }),
}

/** Schema of a `Key`: an array of segments. */
export const keySchema = v.array(v.string())
