/** The forms in which the basic service sends events. Each form has its own URL. */
export const basicForms = ['raw', 'processed'] as const
export type BasicForm = (typeof basicForms)[number]

export const basicTargetId = (form: BasicForm): string => `basic-${form}`

/** Ids of the two basic targets, which every API key has. */
export const basicTargetIds: readonly string[] = basicForms.map(basicTargetId)

/**
 * Ids of the targets of the callback `store`. Each sends one request at a time, so this is also the number of
 * requests that an application gets at a time.
 */
export const storeTargetIds: readonly string[] = Array.from({ length: 8 }, (_, index) => `store-${index}`)

/** Ids of the targets that are not endpoints. */
export const fixedTargetIds: readonly string[] = [...basicTargetIds, ...storeTargetIds]
