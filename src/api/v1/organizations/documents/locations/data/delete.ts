import { checkRepeated } from '../../../../../../access/key-credentials.ts'
import { location } from '../../../../../comment-schema.ts'
import { operation } from '../../../../../operation.ts'
import { documentId } from '../../../../../resource-schema.ts'

export const deleteLocationData = operation({
  path: '/v1/organizations/documents/locations/data/delete',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Delete all data of a location',
  description:
    'Removes the annotations of a location of a document, with their comments and reactions and their activities, also ' +
    'the activities of annotations that were deleted there before, and answers when nothing is left of them; nobody is ' +
    'told of it. A location that is not known is a success. The credentials of the headers have to be repeated in the ' +
    'body.',
  request: {
    type: 'object',
    required: ['apiKey', 'authToken', 'documentId', 'location'],
    properties: {
      apiKey: { type: 'string', description: 'The API key once more.' },
      authToken: { type: 'string', description: 'The auth token once more.' },
      organizationId: {
        type: 'string',
        format: 'id',
        description:
          'Organization of the document. Without it, documents of that id in all organizations of the API key are meant, ' +
          'which takes a look at each organization.',
      },
      documentId,
      location: { ...location, description: 'Its `id` alone counts.' },
    },
  },
  response: { type: 'null' },
  errors: [{ status: 'UNAUTHENTICATED', when: 'the credentials in the body are not those of the headers' }],
  async handler({ organizationId, documentId: document, location: { id }, ...given }, { caller, services }) {
    checkRepeated(caller, given)
    const address = { documentId: document, locationId: id }
    if (organizationId === undefined) await services.locations.clearEverywhere(caller.tenant, address)
    else await services.locations.clear({ ...caller.tenant, organizationId }, address)
    return { message: 'The data of the location is deleted.', data: null }
  },
})
