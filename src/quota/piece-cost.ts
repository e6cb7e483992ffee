/**
 * Number of bytes that each frame of a websocket and each chunk of a body counts as, in addition to its content. The
 * server takes about as long for one without content as for 200 bytes of a large one.
 */
export const pieceCostBytes = 200
