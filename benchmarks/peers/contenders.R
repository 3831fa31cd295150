# One contender written in R on prepared data; prints one JSON line for each data set.
# Rscript contenders.R NAME K FOLDER...      (started by peers.py)

given <- commandArgs(trailingOnly = TRUE)
name <- given[1]
k <- as.integer(given[2])

doubles <- function(folder, what) {
  path <- file.path(folder, paste0(what, ".bin"))
  if (!file.exists(path)) return(NULL)
  readBin(path, "double", file.size(path) / 8)
}

read_data <- function(folder) {
  times <- doubles(folder, "times")
  values <- matrix(doubles(folder, "values"), ncol = length(times), byrow = TRUE)
  list(times = times, values = values, owner = doubles(folder, "owner"),
       when = doubles(folder, "when"), what = doubles(folder, "what"))
}

head_of <- function(data, count) {
  own <- data$owner < count
  list(times = data$times, values = data$values[seq_len(count), ], owner = data$owner[own],
       when = data$when[own], what = data$what[own])
}

# Rows (course, time, value), whether the courses share a grid or not.
long_of <- function(data) {
  if (!is.null(data$owner)) return(data.frame(course = data$owner, x = data$when, y = data$what))
  count <- nrow(data$values)
  data.frame(course = rep(seq_len(count), times = ncol(data$values)),
             x = rep(data$times, each = count), y = as.vector(data$values))
}

run_mclust <- function(data, k) {
  suppressPackageStartupMessages(library(mclust))
  Mclust(data$values, G = k, verbose = FALSE)$classification
}

# What Mfuzz runs, without its interface: fuzzy c-means, m after Schwaemmle and Jensen (2010).
run_cmeans <- function(data, k) {
  count <- nrow(data$values)
  size <- ncol(data$values)
  m <- 1 + (1418 / count + 22.05) * size^(-2) +
    (12.33 / count + 0.243) * size^(-0.0406 * log(count) - 0.1134)
  set.seed(0)
  e1071::cmeans(data$values, k, m = m)$cluster
}

run_flexmix <- function(data, k) {
  suppressPackageStartupMessages(library(flexmix))
  rows <- long_of(data)
  design <- as.data.frame(splines::ns(rows$x, df = min(5, length(unique(rows$x)) - 1)))
  names(design) <- paste0("b", seq_along(design))
  rows <- cbind(rows, design)
  formula <- as.formula(paste("y ~", paste(names(design), collapse = " + "), "| course"))
  set.seed(0)
  fits <- lapply(1:3, function(turn) flexmix(formula, rows, k = k))
  best <- fits[[which.max(sapply(fits, function(fit) as.numeric(logLik(fit))))]]
  clusters(best)[!duplicated(rows$course)]
}

run_degpatterns <- function(data, k) {
  suppressPackageStartupMessages(library(DEGreport))
  values <- data$values
  rownames(values) <- paste0("c", seq_len(nrow(values)))
  colnames(values) <- paste0("s", seq_len(ncol(values)))
  samples <- data.frame(time = factor(data$times), row.names = colnames(values))
  found <- degPatterns(values, samples, time = "time", minc = 1, plot = FALSE)$df
  labels <- rep(-1, nrow(values))
  labels[as.integer(sub("c", "", found$genes))] <- found$cluster
  labels
}

peak <- function() {
  line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1e6
}

run <- get(paste0("run_", name))
folders <- given[-(1:2)]
first <- read_data(folders[1])
if (name != "degpatterns" && nrow(first$values) > 60) invisible(capture.output(run(head_of(first, 60), min(k, 3))))
for (folder in folders) {
  data <- read_data(folder)
  before <- peak()
  start <- proc.time()[["elapsed"]]
  invisible(capture.output(labels <- suppressMessages(run(data, k))))
  seconds <- proc.time()[["elapsed"]] - start
  writeLines(as.character(labels), file.path(folder, paste0(name, ".labels")))
  cat(sprintf('{"folder": "%s", "seconds": %f, "before": %f, "peak": %f}\n', folder, seconds, before, peak()))
}
