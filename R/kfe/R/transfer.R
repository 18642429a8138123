# SPDX-License-Identifier: Apache-2.0
# Models of one instrument, made models of another.

kfe_transfer <- function(object, how = "pds", slave, master = NULL, y = NULL, train = NULL, y_train = NULL, weights = NULL) {
  object <- model_of(object)
  if (missing(slave) || is.null(slave)) stop_kfe("slave is missing; give what the second instrument measured", "argument")
  of_slave <- labelled(object, slave, y)
  of_slave$weights <- check_weights(weights, of_slave$views[[1]]$rows)
  handle <- native("transfer", run_settings(object), handle_of(object), one_string(how, "how"), of_slave, labelled(object, master, NULL),
                   labelled(object, train, y_train))
  facts <- native("inspect", list(), handle)
  object$call <- NULL # it would fit the model of the first instrument
  object$dim <- as.integer(facts$dim)
  object$support <- as.integer(facts$support_size)
  object$bytes <- native("to_bytes", list(), handle)
  object$cache <- handle_cache(handle)
  object
}
