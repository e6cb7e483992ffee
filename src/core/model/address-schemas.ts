import * as s from '../base/schema.ts'

const tenant = { workspaceId: s.string, apiKey: s.string }
const organization = { ...tenant, organizationId: s.string }

/** Schemas of the address types of `address.ts`, for messages and stored jobs. */
export const addressSchemas = {
  tenant: s.object(tenant),
  organization: s.object(organization),
  scope: s.object({ ...organization, documentId: s.string }),
  document: s.object({ ...organization, documentId: s.string, editorId: s.string }),
}

/** Schema of a `Key`: an array of segments. */
export const keySchema = s.array(s.string)
