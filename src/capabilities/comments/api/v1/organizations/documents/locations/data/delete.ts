import { checkBodyCredentials } from '../../../../../../../../core/access/credentials/authenticator.ts'
import { ApiError } from '../../../../../../../../core/base/errors.ts'
import { json } from '../../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../../rest/operation.ts'
import { credentialLengthMax, documentId } from '../../../../../../../../rest/schemas/resource-schema.ts'
import { location } from '../../../../../comment-schema.ts'

/** Maximum number of organizations in an error. */
const namedMax = 30

export const deleteLocationData = defineOperation({
  path: '/v1/organizations/documents/locations/data/delete',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Delete all data of a location',
  description:
    'Removes the annotations of a location of a document, with their comments, reactions, activities and judgments, ' +
    'the activities of annotations that were deleted there before, and all activities that name the location, such as ' +
    'activities of recordings. The response comes when everything is deleted. Events: `comment.delete` for each ' +
    'comment, with the user `api`. An unknown location is a success. The body must repeat the credentials of the headers.',
  request: json.object(
    {
      apiKey: json.text('The API key again.', { maxLength: credentialLengthMax }),
      authToken: json.text('The auth token again.', { maxLength: credentialLengthMax }),
      documentId,
      location: { ...location, description: 'Its `id` alone counts.' },
    },
    {
      organizationId: json.id(
        'Organization of the document. Required if several organizations of the API key have a document of that id; ' +
          'without it the server looks for the document in each of them.',
      ),
    },
  ),
  response: { type: 'null' },
  errors: [
    {
      code: 'location/ambiguous-document',
      when: 'several organizations have a document of this id, and `organizationId` is missing',
    },
    {
      code: 'auth/credentials-mismatch',
      when: 'the credentials in the body differ from those in the headers',
    },
  ],
  async handler({ organizationId, documentId: document, location: { id }, ...given }, { caller, services }) {
    checkBodyCredentials(caller, given)
    const { locations } = services
    const owners =
      organizationId === undefined
        ? await locations.organizationsWith(caller.tenant, document)
        : [organizationId]
    if (owners.length > 1)
      throw new ApiError(
        'location/ambiguous-document',
        `${owners.length} organizations have a document of this id: add organizationId`,
        { details: { organizationIds: owners.slice(0, namedMax) } },
      )
    for (const owner of owners)
      await locations.clear(
        { ...caller.tenant, organizationId: owner },
        { documentId: document, locationId: id },
      )
    return { message: 'The data of the location is deleted.', data: null }
  },
})
