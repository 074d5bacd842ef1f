// Outside: the words of other servers. They never get into a log.

/** Why something from outside cannot be used, in constant words of ours. */
export class Unusable extends Error {}
