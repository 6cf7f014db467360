//! sutura-dialects
