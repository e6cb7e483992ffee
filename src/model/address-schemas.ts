import * as v from 'valibot'

const tenant = { workspaceId: v.string(), apiKey: v.string() }
const organization = { ...tenant, organizationId: v.string() }

/** Schemas of addresses in messages and stored jobs: the types are in `address.ts`. */
export const addressSchemas = {
  tenant: v.looseObject(tenant),
  organization: v.looseObject(organization),
  scope: v.looseObject({ ...organization, documentId: v.string() }),
  document: v.looseObject({ ...organization, documentId: v.string(), editorId: v.string() }),
}

/** The segments of a key. */
export const keySchema = v.array(v.string())
